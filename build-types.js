// Writes the declarations of the package's entries, and of everything that they refer to, beside the built files.
import { join, dirname } from 'node:path'
import ts from 'typescript'

const entries = ['index.ts', 'testing.ts']

process.chdir(import.meta.dirname)
const { options } = ts.convertCompilerOptionsFromJson(
  ts.readConfigFile('tsconfig.json', ts.sys.readFile).config.compilerOptions,
  '.',
)
const declarationsOnly = { noEmit: false, declaration: true, emitDeclarationOnly: true, incremental: false }
const program = ts.createProgram(entries, { ...options, ...declarationsOnly, rootDir: '.', outDir: 'dist' })
const declared = new Set()
for (const entry of entries) declare(entry)

/** Writes a file's declarations, and those of all files that they import. */
function declare(file) {
  if (declared.has(file)) return
  declared.add(file)
  let text = ''
  const { diagnostics } = program.emit(
    program.getSourceFile(file),
    (path, written) => {
      text = written
      ts.sys.writeFile(path, written)
    },
    undefined,
    true,
  )
  const [problem] = diagnostics
  if (problem !== undefined) {
    throw new Error(ts.flattenDiagnosticMessageText(problem.messageText, '\n'))
  }
  for (const [, imported] of text.matchAll(/["'](\.[^"'\n]*)\.[tj]s["']/g)) {
    declare(join(dirname(file), `${imported}.ts`))
  }
}
