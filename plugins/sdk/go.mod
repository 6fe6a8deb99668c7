module github.com/sallyport-dev/sallyport/plugins/sdk

go 1.24
