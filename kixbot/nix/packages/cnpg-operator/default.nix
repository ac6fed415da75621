# CloudNativePG's operator 1.27.0, as its own release manifest has it (releases/cnpg-1.27.0.yaml of its module).
# CRDs, roles and webhooks are data written by generate.sh. Names are those the operator looks for in its own code.
#
# Left out: the editor and viewer ClusterRoles for databases, publications and subscriptions, which only people's own
# role bindings would use, and the Namespace, which kix makes. The image is pulled when absent, not always: its tag
# or digest is fixed.
{ scope, lib, pins }:
let
  inherit (lib) mkOption types;
  version = "1.27.0";
  crds = lib.fromJSON (lib.readFile ./crds.json);
  release = lib.fromJSON (lib.readFile ./release.json);
  # The operator finds its own Deployment by this label.
  label = {
    "app.kubernetes.io/name" = "cloudnative-pg";
  };
in
{
  name = "cnpg-operator";
  inherit version;
  defaultNamespace = "cnpg-system";
  provides = [ "cnpg" ];

  options = {
    replicas = mkOption {
      type = types.ints.positive;
      default = 1;
      description = "How many operators run; one of them leads.";
    };
    resources = mkOption {
      type = types.attrsOf (types.attrsOf types.str);
      default = {
        limits = {
          cpu = "100m";
          memory = "200Mi";
        };
        requests = {
          cpu = "100m";
          memory = "100Mi";
        };
      };
      description = "CPU and memory of the operator.";
    };
  };

  build =
    config:
    let
      # The release's reference, also handed to the operator, which starts instances with its own image.
      image = pins.image "cnpg-operator" "ghcr.io/cloudnative-pg/cloudnative-pg:${version}";
      probe = {
        httpGet = {
          path = "/readyz";
          port = "webhook-server";
          scheme = "HTTPS";
        };
      };
      webhooksOf =
        service: found:
        map (
          name:
          found.${name}.fields
          // {
            inherit name;
            clientConfig.service = {
              inherit (service.out) name namespace;
              inherit (found.${name}) path;
            };
          }
        ) (lib.attrNames found);
    in
    rec {
      definitions = lib.listToAttrs (
        map (crd: {
          inherit (crd.metadata) name;
          value = scope.mkResource {
            inherit (crd) apiVersion kind spec;
            inherit (crd.metadata) name;
            annotations = crd.metadata.annotations or { };
          };
        }) crds
      );

      serviceAccount = scope.mkServiceAccount {
        name = "cnpg-manager";
        automount = true;
      };
      role = scope.mkResource {
        kind = "ClusterRole";
        name = "cnpg-manager";
        inherit (release) rules;
      };
      binding = scope.mkResource {
        kind = "ClusterRoleBinding";
        name = "cnpg-manager-rolebinding";
        roleRef = {
          apiGroup = "rbac.authorization.k8s.io";
          kind = "ClusterRole";
          inherit (role.out) name;
        };
        subjects = [
          {
            kind = "ServiceAccount";
            inherit (serviceAccount.out) name namespace;
          }
        ];
      };

      monitoring = scope.mkConfigMap {
        name = "cnpg-default-monitoring";
        # The operator copies it into the namespaces of its clusters when it changes.
        labels."cnpg.io/reload" = "";
        data.queries = release.queries;
      };

      deployment = scope.mkDeployment {
        name = "cnpg-controller-manager";
        labels = label;
        podLabels = label;
        inherit (config) replicas;
        containers.manager = {
          inherit image;
          imagePullPolicy = "IfNotPresent";
          command = [ "/manager" ];
          args = [
            "controller"
            "--leader-elect"
            "--max-concurrent-reconciles=10"
            "--config-map-name=cnpg-controller-manager-config"
            "--secret-name=cnpg-controller-manager-config"
            "--webhook-port=9443"
          ];
          env = [
            {
              name = "OPERATOR_IMAGE_NAME";
              value = image;
            }
            {
              name = "OPERATOR_NAMESPACE";
              valueFrom.fieldRef.fieldPath = "metadata.namespace";
            }
            {
              name = "MONITORING_QUERIES_CONFIGMAP";
              value = monitoring.out.name;
            }
          ];
          ports = [
            {
              name = "metrics";
              containerPort = 8080;
              protocol = "TCP";
            }
            {
              name = "webhook-server";
              containerPort = 9443;
              protocol = "TCP";
            }
          ];
          livenessProbe = probe;
          readinessProbe = probe;
          startupProbe = probe // {
            failureThreshold = 6;
            periodSeconds = 5;
          };
          inherit (config) resources;
          securityContext = {
            runAsGroup = 10001;
            runAsUser = 10001;
            seccompProfile.type = "RuntimeDefault";
          };
          volumeMounts = [
            {
              name = "scratch-data";
              mountPath = "/controller";
            }
            {
              name = "webhook-certificates";
              mountPath = "/run/secrets/cnpg.io/webhook";
            }
          ];
        };
        volumes = {
          scratch-data.emptyDir = { };
          # Made by the operator on its first start.
          webhook-certificates.secret = {
            defaultMode = 420;
            optional = true;
            secretName = "cnpg-webhook-cert";
          };
        };
        pod = {
          serviceAccountName = serviceAccount.out.name;
          automountServiceAccountToken = true;
          terminationGracePeriodSeconds = 10;
        };
      };

      service = scope.mkResource {
        kind = "Service";
        name = "cnpg-webhook-service";
        spec = {
          ports = [
            {
              port = 443;
              targetPort = "webhook-server";
            }
          ];
          selector = deployment.out.selector;
        };
      };
      mutating = scope.mkResource {
        kind = "MutatingWebhookConfiguration";
        name = "cnpg-mutating-webhook-configuration";
        webhooks = webhooksOf service release.mutating;
      };
      validating = scope.mkResource {
        kind = "ValidatingWebhookConfiguration";
        name = "cnpg-validating-webhook-configuration";
        webhooks = webhooksOf service release.validating;
      };
    };
}
