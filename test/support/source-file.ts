import { sep } from 'node:path'

/** The TypeScript source of a compiled test file, to which source maps point. */
export function sourceFile(built: string): string {
  return built.replace(`${sep}dist${sep}`, sep).replace(/\.js$/, '.ts')
}
