# Packages by name; each folder holds one.
{
  cnpg-cluster = ./cnpg-cluster;
  cnpg-operator = ./cnpg-operator;
  gateway-api = ./gateway-api;
  grafana = ./grafana;
  valkey = ./valkey;
}
