{ document, ... }:
document [ { resources.shop.Deploymnt.api.spec.replicas = 1; } ]
