package command_test

const asGateway = "SALLYPORT_COMMAND_TEST"

func beGateway() int { return 0 }
