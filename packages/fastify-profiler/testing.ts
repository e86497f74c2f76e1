// Budgets for requests in tests: `fastify-profiler/testing`.
export { expectProfile, type ProfileExpectation } from './features/budgets/expect-profile.ts'
export { profiled, type ProfiledApplication, type ProfiledResponse } from './features/budgets/profiled.ts'
export type { Profile } from './core/profile.ts'
