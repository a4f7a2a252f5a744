"""What every HTTP caller passes, whatever the route: keys, rights, limits, bodies, refusals."""
