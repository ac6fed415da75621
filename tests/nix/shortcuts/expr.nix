# The typed shortcuts of a scope.
{ resources, simple, ... }:
resources [
  {
    instances.shop.all.package = simple "all" (scope: rec {
      access = scope.mkAccess {
        name = "agent";
        rules = [ { apiGroups = [ "" ]; resources = [ "pods" ]; verbs = [ "get" ]; } ];
        clusterRules = [ { apiGroups = [ "" ]; resources = [ "nodes" ]; verbs = [ "get" ]; } ];
      };
      daemon = scope.mkDaemonSet {
        name = "agent";
        containers.agent = { image = "agent:1"; securityContext.runAsUser = 1; };
        pod.serviceAccountName = access.serviceAccount.out.name;
      };
      job = scope.mkJob { name = "migrate"; backoffLimit = 1; containers.job.image = "job:1"; pod.restartPolicy = "Never"; };
      cron = scope.mkCronJob { name = "clean"; schedule = "0 3 * * *"; containers.job.image = "job:1"; pod.restartPolicy = "Never"; };
      secret = scope.mkSecret { name = "login"; keys = [ "password" ]; fixed.username = "app"; type = "kubernetes.io/basic-auth"; };
      service = scope.mkService { name = "agent"; "for" = daemon; ports.http = { port = 80; targetPort = 8080; }; };
      route = scope.mkRoute { name = "agent"; gateway = { name = "public"; namespace = "net"; }; hostnames = [ "a.example.com" ]; to = service; };
    });
  }
]
