# Packages by name; each folder holds one.
{
  cnpg-cluster = ./cnpg-cluster;
  cnpg-operator = ./cnpg-operator;
  grafana = ./grafana;
  valkey = ./valkey;
}
