import pg from 'pg'
import { buildApp } from '../app.ts'
import { readConfig } from '../config.ts'
import { Changes } from '../database/changes.ts'
import { assemble } from '../database/database.ts'
import { type Command, readWords } from './command.ts'
import { renderTable } from './table.ts'

export const routes: Command = {
  usage: 'routes',
  summary: 'Lists the routes: methods and paths.',
  details: '',
  async run (words, terminal) {
    readWords(words, [], {})
    // Nothing is asked of it: also beside a running server that has the embedded one open.
    const database = assemble(new pg.Pool(), new Changes())
    const app = await buildApp({ config: readConfig({}), database })
    await app.ready()
    terminal.output.write(renderTable(app.routeTable.routes().map(({ method, url }) => [method, url])))
    await app.close()
    await database.close()
  }
}
