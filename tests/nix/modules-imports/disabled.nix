{ seen = [ "disabled" ]; }
