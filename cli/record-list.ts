import { Type } from 'typebox'
import type { RecordKind } from '../src/records/record-kind.ts'
import { listRecords, type Page } from '../src/records/repository.ts'
import { type Command, readWords, UsageError } from './command.ts'
import { completeFlags, describeFields, optionsOf, readFields, unlessRefused, wordOf } from './record-fields.ts'
import { writeRecords } from './record-output.ts'
import { withDatabase } from './with-database.ts'

/** Records per query. */
const pageSize = 500

export function recordList(kind: RecordKind): Command {
  const filters = Type.Partial(
    Type.Object(Object.fromEntries(Object.entries(kind.filters).map(([name, { schema }]) => [name, schema]))),
  )
  const fields = Object.keys(kind.filters)
  const orders = kind.sorts.flatMap(name => [name, `-${name}`])
  return {
    usage: `${wordOf(kind)} list [options]`,
    summary: `Lists ${kind.plural}.`,
    details: `${describeFields(filters, fields)}
--sort=<field>  sort by ${orders.join(', ')}
--limit <n>     list at most n
--json          print each as a line of JSON`,
    async run(words, terminal) {
      const {
        values: { sort = 'id', limit, json, ...options },
      } = readWords(completeFlags(words, filters), [], {
        ...optionsOf(fields),
        sort: { type: 'string' },
        limit: { type: 'string' },
        json: { type: 'boolean', default: false },
      })
      if (typeof sort !== 'string' || !orders.includes(sort)) {
        throw new UsageError(`--sort must be one of ${orders.join(', ')}.`)
      }
      if (limit !== undefined && !/^[1-9]\d{0,8}$/.test(limit)) {
        throw new UsageError('--limit must be a whole number of at least 1.')
      }
      const asked = readFields(filters, options)
      await withDatabase(terminal, async ({ db }) => {
        let left = limit === undefined ? Infinity : Number(limit)
        let page: Page | undefined
        do {
          const heading = page === undefined
          const after = page?.next ?? undefined
          const listing = { filters: asked, sort, after, limit: Math.min(pageSize, left) }
          page = await unlessRefused(() => listRecords(db, kind, listing))
          left -= page.records.length
          writeRecords(terminal, kind, page.records, { json, heading })
        } while (page.next !== null && left > 0)
      })
    },
  }
}
