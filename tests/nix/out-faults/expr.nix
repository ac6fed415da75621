# A key or port that is not declared is collected: the sentence stands in the text, with its resource.
{ resources, lib, simple, ... }:
lib.mapAttrs (_: r: r.manifest.data or { }) (resources [
  {
    instances.shop.web.package = simple "web" (scope: rec {
      secret = scope.mkSecret { name = "db"; keys = [ "pass" ]; };
      empty = scope.mkSecret { name = "empty"; };
      config = scope.mkConfigMap { name = "settings"; data.level = "info"; };
      service = scope.mkResource { kind = "Service"; name = "web"; spec.ports = [ { name = "http"; port = 80; } ]; };
      elsewhere = scope.mkSecretRef { name = "elsewhere"; keys = [ "token" ]; };
      uses = scope.mkConfigMap {
        name = "uses";
        data = {
          key = secret.out.key "password";
          none = empty.out.key "password";
          config = config.out.key "levle";
          port = "http://web:${service.out.port "htp"}/";
          elsewhere = elsewhere.out.key "tokn";
        };
      };
    });
  }
])
