import { Type } from 'typebox'
import type { RecordKind } from '../src/records/record-kind.ts'
import { changeRecord } from '../src/records/repository.ts'
import { type Command, readWords, UsageError } from './command.ts'
import { commandAuthor } from './command-author.ts'
import { allOrNothing } from './database-failure.ts'
import { completeFlags, describeFields, findRecord, optionsOf, readFields, wordOf } from './record-fields.ts'
import { writeRecord, writeWarning } from './record-output.ts'
import { describeReferences, idsOf, referenceOptions } from './references.ts'
import { withDatabase } from './with-database.ts'

export function recordChange(kind: RecordKind): Command {
  // Leaves out the password, which other users could see as an argument: "user password" asks for it.
  const fields = Object.keys(kind.change.properties).filter(field => field in kind.schema.properties)
  const schema = Type.Pick(kind.change, fields)
  return {
    usage: `${wordOf(kind)} change <${kind.knownBy}|id> [options]`,
    summary: `Changes one ${kind.name}.`,
    details: `${describeFields(schema, fields)}
${describeReferences(kind)}--json  print the record as a line of JSON`,
    async run(words, terminal) {
      const {
        values: { json, ...options },
        operands: [word = ''],
      } = readWords(completeFlags(words, schema), [`${kind.knownBy}|id`], {
        ...optionsOf(fields),
        ...referenceOptions(kind),
        json: { type: 'boolean', default: false },
      })
      const change = await withDatabase(terminal, async ({ db }) => {
        const values = readFields(schema, { ...options, ...(await idsOf(db, kind, options)) })
        if (Object.keys(values).length === 0) throw new UsageError('There is nothing to change.')
        const { id } = await findRecord(db, kind, word)
        const change = await allOrNothing(() => changeRecord(db, commandAuthor(terminal), kind, id, values, () => {}))
        writeWarning(terminal, await kind.warnOf(db, change.after))
        return change
      })
      writeRecord(terminal, kind, change.after, json)
    },
  }
}
