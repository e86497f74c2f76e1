// Budgets for requests in tests: `fastify-profiler/testing`.
export { expectProfile, type ProfileExpectation } from './budget/expect-profile.ts'
export { profiled, type ProfiledApplication, type ProfiledResponse } from './budget/profiled.ts'
export type { Profile } from './base/profile.ts'
