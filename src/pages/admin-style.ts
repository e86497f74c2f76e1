/** The rules of the admin pages, which come after those of forms. */
export const adminRules = `
  main, header { max-width: 72rem }
  main { padding-top: 1.5rem }
  .places { margin-top: 1rem; border-block: 1px solid var(--line); padding: .3rem 0; font-size: .95rem }
  h1 { font-size: 1.7rem }
  .row { display: flex; flex-wrap: wrap; gap: .8rem 1rem; align-items: end; margin: 1rem 0 }
  .row .field { margin: 0; flex: 0 1 14rem }
  .record { max-width: 40rem }
  .field, fieldset { display: grid; gap: .3rem; margin: 1.2rem 0; min-width: 0 }
  fieldset { border: 1px solid var(--line); border-radius: .4rem; padding: .6rem 1rem }
  label, legend { font-weight: 600 }
  .choice label:first-child { flex: 1 }
  .choice, .choice label, .field .quiet, fieldset .quiet { font-weight: 400 }
  .field .quiet, fieldset .quiet { font-size: .9rem }
  .choices { max-height: 20rem; overflow-y: auto; display: grid; gap: .2rem }
  .choices .choice { flex-wrap: wrap; gap: 0 1.5rem }
  .find { display: flex; gap: .5rem }
  .find input { flex: 1 }
  summary { cursor: pointer; color: var(--link) }
  .wide:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
  .wrong { color: var(--problem) }
  [aria-invalid] { border-color: var(--problem) }
  .problem { max-width: none }
  .act { display: inline-block; border: 1px solid transparent; border-radius: .4rem; padding: .55rem 1.4rem;
    background: var(--link); color: var(--ground); font-weight: 600; text-decoration: none }
  .act.danger { background: var(--problem) }
  .wide { overflow-x: auto; margin: 1rem 0 }
  table { border-collapse: collapse; font-size: .95rem; font-variant-numeric: tabular-nums }
  th, td { text-align: start; vertical-align: top; padding: .5rem 1.2rem .5rem 0; border-bottom: 1px solid var(--line);
    max-width: 24rem }
  thead th, time { white-space: nowrap }
  td dl { min-width: 18rem }
  dl { display: grid; grid-template-columns: auto 1fr; gap: 0 .8rem; margin: 0 }
  dd { margin: 0; overflow-wrap: anywhere }
  ins { text-decoration: none }
  del { color: var(--quiet) }
  .secret { display: block; padding: .8rem 1rem; background: var(--band); overflow-wrap: anywhere; user-select: all }
`
