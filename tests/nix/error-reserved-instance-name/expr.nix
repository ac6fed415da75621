{ document, provider, ... }:
document [ { instances.shop.cluster.package = provider "sql" [ ]; } ]
