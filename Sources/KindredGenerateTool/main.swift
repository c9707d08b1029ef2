import KindredGenerateCommand

await GenerateTool.main()
