module hostile

go 1.24

require github.com/sallyport-dev/sallyport/plugins/sdk v0.0.0

replace github.com/sallyport-dev/sallyport/plugins/sdk => ../../sdk
