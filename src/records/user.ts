import { ConflictHttpError } from '../errors/http-errors.ts'
import { longestEmail } from '../sign-in/account.ts'
import { hashPassword, longestPassword, shortestPassword } from '../sign-in/passwords.ts'
import { email as emailField, exampleId, flag, id, ids, password } from './fields.ts'
import { groups as groupKind } from './group.ts'
import { recordKind } from './record-kind.ts'

const email = emailField('The address to sign in with. Case is ignored.', longestEmail)
const groups = { table: 'user_groups', own: 'user_id', other: 'group_id' } as const
const onlyAdmin = 'This user is the only admin. Make somebody else an admin first.'

export const users = recordKind({
  name: 'user',
  plural: 'users',
  table: 'users',
  purpose: 'People who can sign in. An admin may enter every site and change every record.',
  fields: {
    required: { email },
    optional: {
      admin: flag('Whether the user may enter every site and change every record.'),
      group_ids: ids('The ids of the groups that the user belongs to.'),
    },
    secret: {
      password: password("A new password ends all of the user's sessions.", shortestPassword, longestPassword),
    },
    generated: {},
  },
  links: { group_ids: groups },
  filters: {
    email: { schema: email, ignoresCase: true },
    group_id: { schema: id("The id of one of the user's groups."), link: groups },
  },
  knownBy: 'email',
  sorts: ['id', 'email'],
  removalRefusal: onlyAdmin,
  constraints: {
    users_email_key: { field: 'email' },
    users_lower_email: { field: 'email' },
    user_groups_group_id_fkey: { field: 'group_ids', refersTo: groupKind, cascades: true },
  },
  cacheKey: 'id',
  async prepare({ password, ...values }) {
    return typeof password === 'string' ? { ...values, password_hash: await hashPassword(password) } : values
  },
  async assertAllowed(db, id, change) {
    if (change !== null && change['admin'] !== false) return
    // Locks all admins, in a fixed order, so that two of them cannot remove each other at the same time.
    const [admin, another] = await db
      .selectFrom('users')
      .select('id')
      .where('admin', '=', true)
      .orderBy('id')
      .forUpdate()
      .execute()
    if (admin?.id === id && another === undefined) {
      throw new ConflictHttpError(onlyAdmin)
    }
  },
  examples: {
    create: { email: 'guide@museum.example', password: 'four doors and an arch', group_ids: [exampleId] },
    change: { group_ids: [] },
  },
})
