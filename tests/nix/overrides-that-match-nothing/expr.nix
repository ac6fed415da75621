{ document, simple, kix, ... }:
(document [
  {
    instances.shop.web = {
      package = simple "web" (scope: {
        server = scope.mkDeployment { name = "web"; containers.web.image = "web:1"; };
      });
      resources = {
        Deployment.wbe.spec.replicas = 2;
        ConfigMap.nothing.data.a = "b";
        Deployment.web.spec.template.spec.containers = kix.mapByName { wbe.image = "web:2"; };
      };
    };
  }
]).assertions
