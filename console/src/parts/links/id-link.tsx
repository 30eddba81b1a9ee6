/** An id up to this length is not broken at its hyphens. */
const SHORT = 40;

/** An id that leads to its page; the id alone if there is no page, nothing if there is no id. */
export function IdLink({
  id,
  href,
}: {
  readonly id: string | null | undefined;
  readonly href?: string | undefined;
}) {
  if (id == null || id === '') return null;
  const style = id.length <= SHORT ? 'id id-whole' : 'id';
  return href === undefined ? (
    <span class={style}>{id}</span>
  ) : (
    <a class={style} href={href}>
      {id}
    </a>
  );
}
