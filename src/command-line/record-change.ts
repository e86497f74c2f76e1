import { Type } from 'typebox'
import type { RecordKind } from '../records/record-kind.ts'
import { changeRecord } from '../records/repository.ts'
import { type Command, readWords, UsageError } from './command.ts'
import { describeFields, findRecord, optionsOf, readFields, unlessRefused, wordOf } from './record-fields.ts'
import { writeRecord } from './record-output.ts'
import { withDatabase } from './with-database.ts'

export function recordChange(kind: RecordKind): Command {
  // Leaves out the password, which other users could see as an argument: "user password" asks for it.
  const fields = Object.keys(kind.change.properties).filter(field => field in kind.schema.properties)
  const schema = Type.Pick(kind.change, fields)
  return {
    usage: `${wordOf(kind)} change <${kind.knownBy}|id> [options]`,
    summary: `Changes a ${kind.name}.`,
    details: `${describeFields(schema, fields)}
--json  print the record as a line of JSON`,
    async run(words, terminal) {
      const {
        values: { json, ...options },
        operands: [word = ''],
      } = readWords(words, [`${kind.knownBy}|id`], { ...optionsOf(fields), json: { type: 'boolean', default: false } })
      const values = readFields(schema, options)
      if (Object.keys(values).length === 0) throw new UsageError('There is nothing to change.')
      const change = await withDatabase(terminal, async ({ db }) => {
        const { id } = await findRecord(db, kind, word)
        return await unlessRefused(() => changeRecord(db, kind, id, values, () => {}))
      })
      writeRecord(terminal, change.after, json === true)
    },
  }
}
