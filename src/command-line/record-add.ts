import type { RecordKind } from '../records/record-kind.ts'
import { createRecord } from '../records/repository.ts'
import { type Command, readWords } from './command.ts'
import { describeFields, optionsOf, readFields, unlessRefused, wordOf } from './record-fields.ts'
import { writeRecord } from './record-output.ts'
import { withDatabase } from './with-database.ts'

export function recordAdd(kind: RecordKind): Command {
  const fields = Object.keys(kind.create.properties)
  return {
    usage: `${wordOf(kind)} add [options]`,
    summary: `Adds a ${kind.name}.`,
    details: `${describeFields(kind.create, fields)}
--json  print the record as a line of JSON`,
    async run(words, terminal) {
      const {
        values: { json, ...options },
      } = readWords(words, [], { ...optionsOf(fields), json: { type: 'boolean', default: false } })
      const values = readFields(kind.create, options)
      writeRecord(
        terminal,
        await withDatabase(terminal, ({ db }) => unlessRefused(() => createRecord(db, kind, values))),
        json === true,
      )
    },
  }
}
