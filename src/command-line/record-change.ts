import { Type } from 'typebox'
import type { RecordKind } from '../records/record-kind.ts'
import { changeRecord } from '../records/repository.ts'
import { type Command, readWords, UsageError } from './command.ts'
import { describeFields, findRecord, optionsOf, readFields, unlessRefused, wordOf } from './record-fields.ts'
import { writeRecord } from './record-output.ts'
import { withDatabase } from './with-database.ts'

export function recordChange(kind: RecordKind): Command {
  // A password is no word of a command, which others on the machine could see: "user password" asks for it.
  const fields = Object.keys(kind.change.properties).filter(field => field in kind.schema.properties)
  const schema = Type.Pick(kind.change, fields)
  return {
    usage: `${wordOf(kind)} change <${kind.knownBy}|id> [options]`,
    summary: `Changes a ${kind.name}.`,
    details: `${describeFields(schema, fields)}
--json  shows it as a line of JSON`,
    async run(words, terminal) {
      const {
        values: { json, ...options },
        operands: [word = ''],
      } = readWords(words, [`${kind.knownBy}|id`], { ...optionsOf(fields), json: { type: 'boolean', default: false } })
      const values = readFields(schema, options)
      if (Object.keys(values).length === 0) throw new UsageError('What is to change is missing.')
      const change = await withDatabase(terminal, async ({ db }) => {
        const { id } = await findRecord(db, kind, word)
        return await unlessRefused(() => changeRecord(db, kind, id, values, () => {}))
      })
      writeRecord(terminal, change.after, json === true)
    },
  }
}
