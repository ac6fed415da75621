"""Values to text: one file per format. Never reads the outside world."""
