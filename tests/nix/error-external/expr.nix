{ document, kix, ... }:
document [ { externals = [ (kix.untrackedRef { kind = "PriorityClass"; nam = "critical"; }) ]; } ]
