// @vitest-environment jsdom
import { act, renderHook } from '@testing-library/react';
import { expect, test } from 'vitest';
import { useLoad } from './use-load';

/** Renders useLoad with replies that the test gives in any order. */
function load(key: string, version?: string) {
  const replies: { key: string; resolve: (data: string) => void; reject: (error: Error) => void }[] = [];
  const hook = renderHook(
    (props) =>
      useLoad(
        () => new Promise<string>((resolve, reject) => replies.push({ key: props.key, resolve, reject })),
        props.key,
        props.version,
      ),
    { initialProps: { key, version } },
  );
  return { ...hook, replies };
}

test('old data stays while the same key is loaded again, and after a failure', async () => {
  const { result, replies } = load('a');
  expect(result.current).toMatchObject({ data: undefined, loading: true });
  await act(async () => replies[0]?.resolve('first'));
  expect(result.current).toMatchObject({ data: 'first', loading: false });
  act(() => result.current.reload());
  expect(result.current).toMatchObject({ data: 'first', loading: true });
  await act(async () => replies[1]?.reject(new Error('offline')));
  expect(result.current).toMatchObject({ data: 'first', error: new Error('offline'), loading: false });
});

test('the data of another key goes at once, and its late reply is ignored', async () => {
  const { result, rerender, replies } = load('a');
  await act(async () => replies[0]?.resolve('of a'));
  act(() => result.current.reload());
  rerender({ key: 'b', version: undefined });
  expect(result.current.data).toBeUndefined();
  expect(replies.map(({ key }) => key)).toEqual(['a', 'a', 'b']);
  await act(async () => replies[2]?.resolve('of b'));
  await act(async () => replies[1]?.resolve('late'));
  expect(result.current.data).toBe('of b');
});

test('the data of another version stays until the new data is there', async () => {
  const { result, rerender, replies } = load('a', '1');
  await act(async () => replies[0]?.resolve('first'));
  rerender({ key: 'a', version: '2' });
  expect(result.current).toMatchObject({ data: 'first', loading: true });
  await act(async () => replies[1]?.resolve('second'));
  expect(result.current.data).toBe('second');
});
