import { useTitle } from '../links/page.ts';
import { shell as words } from '../../strings.ts';

export function NotFound() {
  useTitle(words.notFound);
  return (
    <>
      <h1 class="h4">{words.notFound}</h1>
      <p>{words.notFoundHint}</p>
    </>
  );
}
