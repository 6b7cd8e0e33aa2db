"""exa: name a compute shape once, see where it can run. The library part is `exa.hardware`."""
