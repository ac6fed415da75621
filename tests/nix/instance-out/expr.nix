# A module may refer to what an instance offers.
{ resources, byId, cluster, provider, ... }:
let
  found = cluster [
    (
      { config, ... }:
      {
        instances.data.db.package = provider "sql" [ "postgres" ];
        resources.shop.ConfigMap.address.data.host = config.instances.data.db.out.fqdn;
      }
    )
  ];
in
{ inherit ((byId found.document)."ConfigMap/address@shop") manifest hard; }
