import { exampleId, id, line } from './fields.ts'
import { licenses } from './license.ts'
import { recordKind } from './record-kind.ts'

const licenseId = id('The id of the license whose site the group may enter.')

export const groups = recordKind({
  name: 'group',
  plural: 'groups',
  table: 'groups',
  purpose: "Users who may enter a license's site if it is protected.",
  fields: {
    required: { license_id: licenseId, name: line('The name of the group.') },
    optional: {},
    generated: {},
    secret: {},
  },
  knownBy: 'name',
  sorts: ['id', 'name'],
  constraints: { groups_license_id_fkey: { field: 'license_id', refersTo: licenses, cascades: true } },
  cacheKey: 'license_id',
  examples: { create: { license_id: exampleId, name: 'Guides' }, change: { name: 'Guides and guards' } },
})
