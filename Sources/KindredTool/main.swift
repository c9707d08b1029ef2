import KindredCommand

await CommandLineTool.main()
