/** An id that leads to its page; the id alone if there is no page, nothing if there is no id. */
export function IdLink({
  id,
  href,
}: {
  readonly id: string | null | undefined;
  readonly href?: string | undefined;
}) {
  if (id == null || id === '') return null;
  return href === undefined ? (
    <span class="id">{id}</span>
  ) : (
    <a class="id" href={href}>
      {id}
    </a>
  );
}
