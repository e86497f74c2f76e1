import pg from 'pg'
import { buildApp } from '../app.ts'
import { readConfig } from '../src/config.ts'
import { Changes } from '../src/database/changes.ts'
import { assemble } from '../src/database/database.ts'
import { type Command, readWords } from './command.ts'
import { writeRows } from './record-output.ts'

export const routes: Command = {
  usage: 'routes [--json]',
  summary: 'Lists the methods and paths of all routes.',
  details: '--json  print each as a line of JSON',
  async run(words, terminal) {
    const {
      values: { json },
    } = readWords(words, [], { json: { type: 'boolean', default: false } })
    // Never connected, so the command also works beside a server that has the embedded database open.
    const database = assemble(new pg.Pool(), new Changes())
    const app = await buildApp({ ...terminal.additions, config: readConfig({}), database })
    await app.ready()
    writeRows(terminal, ['method', 'url'], app.routeTable.routes(), { json, heading: false })
    await app.close()
    await database.close()
  },
}
