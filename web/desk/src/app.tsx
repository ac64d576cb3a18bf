import { Loading } from '@desk/components/loading';
import { LanguageProvider } from '@desk/i18n/language';
import { homeOf } from '@desk/layout/screens';
import { Shell } from '@desk/layout/shell';
import { useAccess } from '@desk/session/access';
import { lazy, Suspense, useLayoutEffect } from 'react';
import { createHashRouter, RouterProvider, useNavigate } from 'react-router-dom';
import { Toasts } from './components/toasts';
import { InboxScreen } from './screens/inbox/inbox-screen';
import { SessionGate } from './session-gate';

const ForwardScreen = lazy(() => import('./screens/forward/forward-screen'));
const ClustersScreen = lazy(() => import('./screens/clusters/clusters-screen'));
const GuidesScreen = lazy(() => import('./screens/guides/guides-screen'));
const ResourcesScreen = lazy(() => import('./screens/resources/resources-screen'));
const EditResourceScreen = lazy(() => import('./screens/resources/edit-resource-screen'));
const FiguresScreen = lazy(() => import('./screens/figures/figures-screen'));
const StaffScreen = lazy(() => import('./screens/staff/staff-screen'));
const TrailScreen = lazy(() => import('./screens/trail/trail-screen'));
const SystemScreen = lazy(() => import('./screens/system/system-screen'));
const AccountScreen = lazy(() => import('./screens/account/account-screen'));

/** Leads to the first screen of a role, before a link is on the screen whose click the way would overtake. */
function Home() {
  const navigate = useNavigate();
  const home = homeOf(useAccess().role);
  useLayoutEffect(() => void navigate(home, { replace: true }), [navigate, home]);
  return null;
}

const router = createHashRouter([
  {
    element: <Shell />,
    children: [
      { path: '/', element: <Home /> },
      { path: '/welcome', element: <Home /> },
      { path: '/reports/:reference?', element: <InboxScreen /> },
      { path: '/reports/:reference/forward', element: <ForwardScreen /> },
      { path: '/clusters', element: <ClustersScreen /> },
      { path: '/guides/:slug?', element: <GuidesScreen /> },
      { path: '/resources', element: <ResourcesScreen /> },
      { path: '/resources/:id', element: <EditResourceScreen /> },
      { path: '/figures', element: <FiguresScreen /> },
      { path: '/staff', element: <StaffScreen /> },
      { path: '/trail', element: <TrailScreen /> },
      { path: '/system', element: <SystemScreen /> },
      { path: '/account', element: <AccountScreen /> },
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
      <Toasts />
    </LanguageProvider>
  );
}
