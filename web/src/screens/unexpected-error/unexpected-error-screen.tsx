import { useRouteError } from 'react-router-dom';

export function UnexpectedErrorScreen() {
  const error = useRouteError();
  return (
    <main>
      <h1>Unexpected Application Error!</h1>
      <pre>{error instanceof Error ? error.message : String(error)}</pre>
    </main>
  );
}
