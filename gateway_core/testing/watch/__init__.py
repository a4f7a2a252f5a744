"""What the kit watches the process with while a provider is at work."""
