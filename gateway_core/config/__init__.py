"""The configuration: TOML file and environment in, checked values and every fault out."""
