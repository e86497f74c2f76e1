import pg from 'pg'
import { buildApp } from '../app.ts'
import { readConfig } from '../config.ts'
import { Changes } from '../database/changes.ts'
import { assemble } from '../database/database.ts'
import { type Command, readWords } from './command.ts'
import { writeRows } from './record-output.ts'

export const routes: Command = {
  usage: 'routes [--json]',
  summary: 'Lists the routes: methods and paths.',
  details: '--json  a line of JSON for each',
  async run(words, terminal) {
    const {
      values: { json },
    } = readWords(words, [], { json: { type: 'boolean', default: false } })
    // Nothing is asked of it: also beside a running server that has the embedded one open.
    const database = assemble(new pg.Pool(), new Changes())
    const app = await buildApp({ config: readConfig({}), database })
    await app.ready()
    writeRows(terminal, ['method', 'url'], app.routeTable.routes(), { json, heading: false })
    await app.close()
    await database.close()
  },
}
