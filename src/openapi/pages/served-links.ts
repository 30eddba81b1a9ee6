import { posix } from 'node:path';

/**
 * A code block, a link or an image with its text and target, or code in a line. Code comes first, so that its brackets
 * stay.
 */
const CODE_OR_LINK = /```[^]*?```|(!?)\[((?:`[^`]*`|[^[\]`])*)\]\(([^)\s]+)\)|`[^`]*`/g;
const ABSOLUTE = /^(?:[a-z]+:|[/#])/;

/**
 * Changes the links of a Markdown file so that they work where the service serves it: a link to a file that is served
 * names its address, and a link to another file becomes text that names the file. An image that is not
 * served is left out.
 * @param source the path of the file in the repository, to which its links are relative
 * @param addresses the addresses of the files that are served, by their paths in the repository
 */
export function withServedLinks(
  markdown: string,
  source: string,
  addresses: ReadonlyMap<string, string>,
): string {
  return markdown.replace(CODE_OR_LINK, (found: string, mark?: string, text?: string, target?: string) => {
    if (text === undefined || target === undefined || ABSOLUTE.test(target)) return found;
    const [file = '', anchor] = target.split('#', 2);
    const path = posix.join(posix.dirname(source), file);
    const address = addresses.get(path);
    if (address !== undefined)
      return `${mark}[${text}](${address}${anchor === undefined ? '' : `#${anchor}`})`;
    if (mark === '!') return '';
    return text.includes(posix.basename(path)) ? text : `${text} (\`${path}\` in the repository)`;
  });
}
