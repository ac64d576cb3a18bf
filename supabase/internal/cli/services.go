package cli

var servicesCommand = Command{
	Name:  "services",
	Short: "The same as daawo version: what the program contains",
	Run:   runVersion,
}
