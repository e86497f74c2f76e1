import type { RecordKind } from '../src/records/record-kind.ts'
import { createRecord } from '../src/records/repository.ts'
import { type Command, readWords } from './command.ts'
import { commandAuthor } from './command-author.ts'
import { allOrNothing } from './database-failure.ts'
import { completeFlags, describeFields, optionsOf, readFields, wordOf } from './record-fields.ts'
import { writeRecord, writeWarning } from './record-output.ts'
import { describeReferences, idsOf, referenceOptions } from './references.ts'
import { withDatabase } from './with-database.ts'

export function recordAdd(kind: RecordKind): Command {
  const fields = Object.keys(kind.create.properties)
  return {
    usage: `${wordOf(kind)} add [options]`,
    summary: `Adds one ${kind.name}.`,
    details: `${describeFields(kind.create, fields)}
${describeReferences(kind)}--json  print the record as a line of JSON`,
    async run(words, terminal) {
      const {
        values: { json, ...options },
      } = readWords(completeFlags(words, kind.create), [], {
        ...optionsOf(fields),
        ...referenceOptions(kind),
        json: { type: 'boolean', default: false },
      })
      writeRecord(
        terminal,
        kind,
        await withDatabase(terminal, async ({ db }) => {
          const values = readFields(kind.create, { ...options, ...(await idsOf(db, kind, options)) })
          const record = await allOrNothing(() => createRecord(db, commandAuthor(terminal), kind, values))
          writeWarning(terminal, await kind.warnOf(db, record))
          return record
        }),
        json,
      )
    },
  }
}
