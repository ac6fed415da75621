# What every case gets: the library, and short ways to make a cluster and to look at it.
kix:
let
  inherit (kix) lib;
  # A package from its build alone: `arguments` are those of the package's function.
  simple = name: build: { scope, ... }: {
    inherit name;
    build = _: build scope;
  };
  cluster =
    modules:
    kix.buildCluster {
      name = "test";
      inherit modules;
    };
  byId =
    document:
    builtins.listToAttrs (
      map (r: {
        name = r.id;
        value = r;
      }) document.resources
    );
in
{
  inherit kix lib simple cluster byId;
  inherit (kix) packages flavors;
  types = lib.types;
  # The document of a cluster of these modules.
  document = modules: (cluster modules).document;
  # Its resources by id, the PackageInstances and Namespaces left out.
  resources =
    modules:
    lib.filterAttrs (_: r: r.package != null && !(lib.hasPrefix "PackageInstance" r.id)) (
      byId (cluster modules).document
    );
  # Who satisfies what: instance → ids.
  dependencies =
    modules:
    builtins.listToAttrs (
      map (p: {
        name = p.id;
        value = p.dependsOn;
      }) (cluster modules).document.packages
    );
  evaluate = modules: (lib.evalModules { inherit modules; }).config;
  # A package that provides interfaces and needs nothing.
  provider = name: provides: { scope }: {
    inherit name provides;
    build = _: {
      service = scope.mkResource {
        kind = "Service";
        name = scope.name;
        spec.ports = [
          {
            name = "sql";
            port = 5432;
          }
        ];
      };
    };
    out = resources: { inherit (resources.service.out) fqdn port; };
  };
  # A package that needs `postgres` and writes its address down.
  user = { scope, postgres }: {
    name = "user";
    build = _: {
      settings = scope.mkConfigMap {
        name = scope.name;
        data.host = postgres.fqdn;
      };
    };
  };
}
