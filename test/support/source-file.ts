import { sep } from 'node:path'

/** The TypeScript that a built test file was made of: where source maps lead back to. */
export function sourceFile(built: string): string {
  return built.replace(`${sep}dist${sep}`, sep).replace(/\.js$/, '.ts')
}
