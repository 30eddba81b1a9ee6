import { problems as words } from '../../strings.ts';

export function PageFailed() {
  return (
    <div role="alert" class="alert alert-warning">
      <p>{words.pageFailed}</p>
      <button type="button" class="btn btn-sm btn-outline-secondary" onClick={() => location.reload()}>
        {words.reload}
      </button>
    </div>
  );
}
