import { lazy, Suspense } from 'react';
import { createHashRouter, Navigate, RouterProvider } from 'react-router-dom';
import { Toaster } from 'sonner';
import { Loading } from './components/ui';
import { LanguageProvider } from './i18n/language';
import { Inbox } from './screens/inbox/inbox';
import { SessionGate, useAccess } from './session-gate';
import { Shell } from './shell';

const Forward = lazy(() => import('./screens/forward'));
const Resources = lazy(() => import('./screens/resources/resources'));
const EditResource = lazy(() => import('./screens/resources/edit-resource'));
const Figures = lazy(() => import('./screens/figures/figures'));
const Staff = lazy(() => import('./screens/staff'));
const Trail = lazy(() => import('./screens/trail'));
const System = lazy(() => import('./screens/system'));
const Account = lazy(() => import('./screens/account'));

/** The first screen of a role. */
function Home() {
  return <Navigate to={useAccess().role === 'editor' ? '/resources' : '/reports'} replace />;
}

const router = createHashRouter([
  {
    element: <Shell />,
    children: [
      { path: '/', element: <Home /> },
      { path: '/welcome', element: <Home /> },
      { path: '/reports/:reference?', element: <Inbox /> },
      { path: '/reports/:reference/forward', element: <Forward /> },
      { path: '/resources', element: <Resources /> },
      { path: '/resources/:id', element: <EditResource /> },
      { path: '/figures', element: <Figures /> },
      { path: '/staff', element: <Staff /> },
      { path: '/trail', element: <Trail /> },
      { path: '/system', element: <System /> },
      { path: '/account', element: <Account /> },
      { path: '*', element: <Home /> },
    ],
  },
]);

export function App() {
  return (
    <LanguageProvider>
      <SessionGate>
        <Suspense fallback={<Loading />}>
          <RouterProvider router={router} />
        </Suspense>
      </SessionGate>
      <Toaster position="bottom-right" toastOptions={{ duration: 4000 }} />
    </LanguageProvider>
  );
}
