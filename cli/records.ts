import { Type } from 'typebox'
import { ordersOf, type RecordKind } from '../src/records/record-kind.ts'
import {
  type AnyRecord,
  changeRecord,
  createRecord,
  type Listing,
  listRecords,
  removeRecord,
} from '../src/records/repository.ts'
import { command, flag, text, UsageError } from './command.ts'
import {
  describeFields,
  describeReferences,
  findRecord,
  idsOf,
  optionsOf,
  readFields,
  readLimit,
  referenceOptions,
  wordOf,
} from './record-options.ts'
import { type Command, cellOf, listWriter, renderTable, type Terminal, writeOutcome, writeWarning } from './terminal.ts'
import { allOrNothing, commandAuthor, unlessRefused, withDatabase } from './with-database.ts'

const pageSize = 500

interface ListCommand {
  usage?: string
  summary?: string
  /** The columns of the table. Default: all. */
  columns?: string[]
  /** How many records are listed unless --limit is given. Default: all. */
  limit?: string
}

export function recordList(
  kind: RecordKind,
  {
    usage = `${wordOf(kind)} list [options]`,
    summary = `Lists ${kind.plural}.`,
    columns = columnsOf(kind),
    limit: usualLimit,
  }: ListCommand = {},
): Command {
  const orders = ordersOf(kind)
  return command({
    usage,
    summary,
    intro: describeFields(kind.query),
    options: {
      ...optionsOf(kind.query),
      sort: { type: 'string', value: '=<field>', help: `sort by ${orders.join(', ')}; default: ${kind.usualSort}` },
      limit: text('<n>', `list at most n; default: ${usualLimit ?? 'all'}`),
      json: flag('print each as a line of JSON'),
    },
    async run(terminal, { sort = kind.usualSort, limit = usualLimit, json, ...options }) {
      if (!orders.includes(sort)) throw new UsageError(`--sort must be one of ${orders.join(', ')}.`)
      let left = limit === undefined ? Infinity : readLimit(limit)
      const asked = readFields(kind.query, options)
      const write = listWriter(terminal, json, columns)
      await withDatabase(terminal, async ({ db }) => {
        let after: Listing['after']
        do {
          const listing = { filters: asked, sort, after, limit: Math.min(pageSize, left) }
          const { records, next } = await unlessRefused(() => listRecords(db, kind, listing))
          write(records, record => columns.map(column => withState(kind, record)[column]))
          left -= records.length
          after = next ?? undefined
        } while (after !== undefined && left > 0)
      })
    },
  })
}

export function recordShow(kind: RecordKind): Command {
  return command({
    usage: `${wordOf(kind)} show <${kind.knownBy}|id> [--json]`,
    summary: `Shows one ${kind.name}.`,
    options: { json: flag('print it as a line of JSON') },
    async run(terminal, { json }, [word = '']) {
      writeRecord(terminal, kind, await withDatabase(terminal, ({ db }) => findRecord(db, kind, word)), json)
    },
  })
}

/** @param newSecret makes the kind that adds a record with something that is shown once */
export function recordAdd(kind: RecordKind, newSecret?: () => { kind: RecordKind; secret: string }): Command {
  return command({
    usage: `${wordOf(kind)} add [options]`,
    summary: `Adds one ${kind.name}.`,
    intro: `${describeFields(kind.create)}${describeReferences(kind)}`,
    options: { ...optionsOf(kind.create), ...referenceOptions(kind), json: flag('print the record as a line of JSON') },
    async run(terminal, { json, ...options }) {
      const made = newSecret?.()
      const added = await withDatabase(terminal, async ({ db }) => {
        const values = readFields(kind.create, { ...options, ...(await idsOf(db, kind, options)) })
        const record = await allOrNothing(() => createRecord(db, commandAuthor(terminal), made?.kind ?? kind, values))
        writeWarning(terminal, await kind.warnOf(db, record))
        return record
      })
      if (made === undefined) return writeRecord(terminal, kind, added, json)
      terminal.errors.write(`Added the ${kind.name} "${cellOf(added[kind.knownBy])}". It is not shown again:\n`)
      writeOutcome(terminal, made.secret, { ...added, [kind.name]: made.secret }, json)
    },
  })
}

export function recordChange(kind: RecordKind): Command {
  // Leaves out the password, which other users could see as an argument: "user password" asks for it.
  const fields = Object.keys(kind.change.properties).filter(field => field in kind.schema.properties)
  const schema = Type.Pick(kind.change, fields)
  return command({
    usage: `${wordOf(kind)} change <${kind.knownBy}|id> [options]`,
    summary: `Changes one ${kind.name}.`,
    intro: `${describeFields(schema)}${describeReferences(kind)}`,
    options: { ...optionsOf(schema), ...referenceOptions(kind), json: flag('print the record as a line of JSON') },
    async run(terminal, { json, ...options }, [word = '']) {
      const changed = await withDatabase(terminal, async ({ db }) => {
        const values = readFields(schema, { ...options, ...(await idsOf(db, kind, options)) })
        if (Object.keys(values).length === 0) throw new UsageError('There is nothing to change.')
        const { id } = await findRecord(db, kind, word)
        const { after } = await allOrNothing(() => changeRecord(db, commandAuthor(terminal), kind, id, values))
        writeWarning(terminal, await kind.warnOf(db, after))
        return after
      })
      writeRecord(terminal, kind, changed, json)
    },
  })
}

/** @param verb what removing one is called; ends in e */
export function recordRemove(kind: RecordKind, kinds: readonly RecordKind[], verb = 'remove'): Command {
  const capitalised = verb.replace(/^./, letter => letter.toUpperCase())
  return command({
    usage: `${wordOf(kind)} ${verb} <${kind.knownBy}|id> [--json]`,
    summary: `${capitalised}s one ${kind.name}.`,
    options: { json: flag('print the removed record as a line of JSON') },
    notes: alsoRemoved(kind, kinds),
    async run(terminal, { json }, [word = '']) {
      const removed = await withDatabase(terminal, async ({ db }) => {
        const { id } = await findRecord(db, kind, word)
        return await allOrNothing(() => removeRecord(db, commandAuthor(terminal), kinds, kind, id))
      })
      const sentence = `${capitalised}d the ${kind.name} "${cellOf(removed[kind.knownBy])}" (id ${removed.id}).`
      writeOutcome(terminal, sentence, removed, json)
    },
  })
}

function alsoRemoved(kind: RecordKind, kinds: readonly RecordKind[]): string | undefined {
  const owned = kinds.filter(({ constraints, links }) =>
    Object.values(constraints).some(
      ({ field, refersTo, cascades }) => refersTo === kind && cascades === true && !(field in links),
    ),
  )
  if (owned.length === 0) return undefined
  const names = new Intl.ListFormat('en-GB').format(owned.map(({ plural }) => plural))
  return `The ${names} of the ${kind.name} are removed, too.`
}

function writeRecord({ output }: Terminal, kind: RecordKind, record: AnyRecord, json: boolean): void {
  const shown = withState(kind, record)
  const lines = renderTable(columnsOf(kind).map(column => [column, cellOf(shown[column])]))
  output.write(json ? `${JSON.stringify(record)}\n` : lines.join(''))
}

/** The columns of a kind's table. The state is among the first, which every terminal has room for. */
function columnsOf({ schema, knownBy, stateOf }: RecordKind): string[] {
  const columns = Object.keys(schema.properties)
  return stateOf === undefined ? columns : columns.toSpliced(columns.indexOf(knownBy) + 1, 0, 'state')
}

function withState({ stateOf }: RecordKind, record: AnyRecord): AnyRecord {
  return stateOf === undefined ? record : { ...record, state: stateOf(record) }
}
