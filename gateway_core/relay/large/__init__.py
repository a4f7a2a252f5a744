"""Large request bodies: held within a bound, and decoded and checked away from the event loop."""
