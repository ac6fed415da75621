// Command control-plane is etcd and the Kubernetes control plane in one
// binary. It is whichever part its own file name says:
// etcd, kube-apiserver, kube-controller-manager, kube-scheduler or kubectl.
//
// One binary, because they share nearly all of their code: linked together
// they take 125 MB instead of about 400.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

var commands = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllermanager.NewControllerManagerCommand,
	"kubectl":                 kubectl.NewDefaultKubectlCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
}

func main() {
	name := filepath.Base(os.Args[0])
	if name == "etcd" {
		etcdmain.Main(os.Args)
		return
	}
	command, ok := commands[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "control-plane: no part is called %q\n", name)
		os.Exit(2)
	}
	os.Exit(cli.Run(command()))
}
