//go:build !linux

package command_test

// asGateway is not used: nothing here outlives this process.
const asGateway = "SALLYPORT_COMMAND_TEST"

func beGateway() int { return 0 }
