# Package assertions, surplus results of build, lost references: all are reported together.
{ document, ... }:
map (a: { inherit (a) message hint package resource; }) (document [
  {
    instances.shop.web.package = { scope }: {
      name = "web";
      assertions = config: [
        { assertion = false; message = "replicas must be odd"; hint = "write 3"; }
        { assertion = true; message = "never"; }
      ];
      build = _: {
        text = "not a resource";
        nested.list = [ ];
        config = scope.mkConfigMap {
          name = "web";
          data.host = (scope.mkResource { kind = "Service"; name = "lost"; }).out.name;
        };
        late = scope.mkResource { kind = "ConfigMap"; name = "late"; after = [ "Job/none@shop" ]; };
      };
    };
    cluster.roles.ingress.binding = "shop/nothing";
  }
]).assertions
